/** What Node.js needs to name TypeScript files and lines in stack traces of a bundle. */
export const SOURCE_MAP_FLAG = "--enable-source-maps";
