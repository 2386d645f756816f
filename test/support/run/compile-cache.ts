import '#app/startup/keep-compiled-code.mjs';

/** The folder of compiled code that all processes and threads of a run share, because most of a start is compiling. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? '';
