// Preloaded before each test file, so that fast-check uses the seed of the run and prints it with a failure. Plain
// JavaScript, because older versions of Node.js load it before tsx is active.
import process from "node:process";
import fc from "fast-check";

const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) });
