/** The part of fengari 0.1 that the simulator uses. The package has no types. */
declare module "fengari/src/lua.js" {
  export interface LuaState {
    readonly __lua: unique symbol;
  }
  /** Text as Lua stores it. */
  export type LuaText = Uint8Array;

  export const LUA_OK: number;
  export const LUA_REGISTRYINDEX: number;
  export const LUA_TBOOLEAN: number;
  export const LUA_TNIL: number;
  export const LUA_TNUMBER: number;
  export const LUA_TSTRING: number;
  export const LUA_TTABLE: number;

  export function lua_createtable(L: LuaState, items: number, fields: number): void;
  export function lua_error(L: LuaState): never;
  export function lua_getfield(L: LuaState, index: number, name: LuaText): number;
  export function lua_gettop(L: LuaState): number;
  export function lua_pcall(L: LuaState, ...counts: [parameters: number, results: number, handler: number]): number;
  export function lua_pushboolean(L: LuaState, value: boolean): void;
  export function lua_pushcfunction(L: LuaState, run: (L: LuaState) => number): void;
  export function lua_pushinteger(L: LuaState, value: number): void;
  export function lua_pushstring(L: LuaState, text: LuaText): void;
  export function lua_rawgeti(L: LuaState, index: number, item: number): number;
  export function lua_rawseti(L: LuaState, index: number, item: number): void;
  export function lua_setfield(L: LuaState, index: number, name: LuaText): void;
  export function lua_setglobal(L: LuaState, name: LuaText): void;
  export function lua_settop(L: LuaState, index: number): void;
  export function lua_toboolean(L: LuaState, index: number): boolean;
  export function lua_tojsstring(L: LuaState, index: number): string;
  export function lua_tonumber(L: LuaState, index: number): number;
  export function lua_type(L: LuaState, index: number): number;
}

declare module "fengari/src/lauxlib.js" {
  import type { LuaState, LuaText } from "fengari/src/lua.js";

  export function luaL_loadstring(L: LuaState, source: LuaText): number;
  export function luaL_newstate(): LuaState;
  export function luaL_ref(L: LuaState, table: number): number;
}

declare module "fengari/src/lbaselib.js" {
  import type { LuaState } from "fengari/src/lua.js";

  export function luaopen_base(L: LuaState): number;
}

declare module "fengari/src/fengaricore.js" {
  import type { LuaText } from "fengari/src/lua.js";

  export function to_luastring(text: string, isCached?: boolean): LuaText;
}
