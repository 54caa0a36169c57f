// Preloaded where Prisma's command line runs on a Node.js older than it supports (the lab supports 20.9 and newer, Prisma
// 20.19). Generating the client needs nothing that is missing there but a function that colours text.
const util = require("node:util");
if (!util.styleText) util.styleText = (_format, text) => text;
