// Preloaded when Prisma's command line runs on an older Node.js than it supports (the lab supports 20.9 and newer, Prisma
// 20.19). The only missing function that generating the client needs is one that colours text.
const util = require("node:util");
if (!util.styleText) util.styleText = (_format, text) => text;
