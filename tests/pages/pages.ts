export * from "./corpus";
export * from "./render";
