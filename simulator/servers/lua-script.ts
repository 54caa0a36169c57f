import { to_luastring as luaText } from "fengari/src/fengaricore.js";
import { luaL_loadstring, luaL_newstate, luaL_ref } from "fengari/src/lauxlib.js";
import { luaopen_base } from "fengari/src/lbaselib.js";
import * as lua from "fengari/src/lua.js";
import { ReplyError } from "./reply-error";

/** Executes a command of a script. */
export type RedisCall = (name: string, parameters: readonly string[]) => unknown;

export interface ScriptParameters {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

const ONE_TABLE_FIELD = 1;
const isCached = true;

/** One interpreter per process. Scripts keep no state in it, so worlds cannot affect one another. */
const L = openInterpreter();
const functions = new Map<string, number>();
/** The commands of the running script go here. Redis runs one script at a time, and so does this process. */
let call: RedisCall = () => {
  throw new Error("no script is running");
};
/** The error of a command, which ends the script and becomes its reply. */
let failure: unknown = null;

/**
 * Runs the text of a script as Redis does: `redis.call`, KEYS and ARGV, with replies converted in both directions. fengari is
 * Lua 5.3 and Redis Lua 5.1; the scripts of the locks use what both have, and redis-model.test.ts compares the replies.
 * @throws ReplyError if the script is not valid or a command fails
 */
export function runLuaScript(source: string, { keys, values }: ScriptParameters, execute: RedisCall): unknown {
  const script = functions.get(source) ?? compile(source);
  functions.set(source, script);
  setList("KEYS", keys);
  setList("ARGV", values);
  call = execute;
  failure = null;
  lua.lua_rawgeti(L, lua.LUA_REGISTRYINDEX, script);
  const status = lua.lua_pcall(L, 0, 1, 0);
  const reply = status === lua.LUA_OK ? replyOf(-1) : null;
  const message = status === lua.LUA_OK ? "" : lua.lua_tojsstring(L, -1);
  lua.lua_settop(L, 0);
  if (status === lua.LUA_OK) return reply;
  throw failure ?? new ReplyError(`ERR ${message}`);
}

function openInterpreter(): lua.LuaState {
  const state = luaL_newstate();
  lua.lua_pushcfunction(state, luaopen_base);
  lua.lua_pcall(state, 0, 0, 0);
  lua.lua_createtable(state, 0, ONE_TABLE_FIELD);
  lua.lua_pushcfunction(state, onCall);
  lua.lua_setfield(state, -2, luaText("call"));
  lua.lua_setglobal(state, luaText("redis"));
  lua.lua_settop(state, 0);
  return state;
}

function compile(source: string): number {
  const status = luaL_loadstring(L, luaText(source));
  if (status === lua.LUA_OK) return luaL_ref(L, lua.LUA_REGISTRYINDEX);
  const message = lua.lua_tojsstring(L, -1);
  lua.lua_settop(L, 0);
  throw new ReplyError(`ERR Error compiling script: ${message}`);
}

function setList(name: "KEYS" | "ARGV", items: readonly string[]): void {
  lua.lua_createtable(L, items.length, 0);
  for (const [index, item] of items.entries()) {
    lua.lua_pushstring(L, luaText(item));
    lua.lua_rawseti(L, -2, index + 1);
  }
  lua.lua_setglobal(L, luaText(name, isCached));
}

function onCall(state: lua.LuaState): number {
  const [name = "", ...parameters] = Array.from({ length: lua.lua_gettop(state) }, (_, index) =>
    parameterOf(state, index + 1),
  );
  try {
    push(state, name === "SET" ? statusOf(call(name, parameters)) : call(name, parameters));
    return 1;
  } catch (error) {
    failure = error;
  }
  lua.lua_pushstring(state, luaText("a command failed"));
  return lua.lua_error(state);
}

/** Numbers become text without ".0", which Lua 5.3 adds to a sum of texts and Lua 5.1 does not. */
function parameterOf(state: lua.LuaState, index: number): string {
  const isNumber = lua.lua_type(state, index) === lua.LUA_TNUMBER;
  return isNumber ? String(lua.lua_tonumber(state, index)) : lua.lua_tojsstring(state, index);
}

interface Status {
  readonly ok: string;
}

/** The only command of the locks whose reply is a status. */
function statusOf(reply: unknown): Status | null {
  return typeof reply === "string" ? { ok: reply } : null;
}

/** A nil reply is `false` in Lua, and a status is a table with the field `ok`. */
function push(state: lua.LuaState, reply: unknown): void {
  if (reply === null) lua.lua_pushboolean(state, false);
  else if (typeof reply === "number") lua.lua_pushinteger(state, reply);
  else if (typeof reply === "string") lua.lua_pushstring(state, luaText(reply));
  else {
    lua.lua_createtable(state, 0, ONE_TABLE_FIELD);
    lua.lua_pushstring(state, luaText((reply as Status).ok, isCached));
    lua.lua_setfield(state, -2, luaText("ok", isCached));
  }
}

/** `false` and nil are a nil reply, `true` is 1, and numbers lose their fraction. */
function replyOf(index: number): unknown {
  const type = lua.lua_type(L, index);
  if (type === lua.LUA_TNUMBER) return Math.trunc(lua.lua_tonumber(L, index));
  if (type === lua.LUA_TSTRING) return lua.lua_tojsstring(L, index);
  if (type === lua.LUA_TBOOLEAN) return lua.lua_toboolean(L, index) ? 1 : null;
  if (type !== lua.LUA_TTABLE) return null;
  lua.lua_getfield(L, index, luaText("ok", isCached));
  return lua.lua_tojsstring(L, -1);
}
