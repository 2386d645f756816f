// What every npm script loads before its own code, with `node --import`.
import './require-node-24.mjs';
import './keep-compiled-code.mjs';
