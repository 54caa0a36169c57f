// Preloaded ahead of each test file: what fast-check draws in it comes from the run's seed, which its report of a failure
// names. Plain JavaScript: an older Node.js loads it before tsx can be asked.
import process from "node:process";
import fc from "fast-check";

const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) });
