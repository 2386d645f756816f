/** The exit code of shells for a process that writes to a closed pipe. */
const closedPipeCode = 141;

/** Ends the process silently if the reader of its output closes the pipe, like `| head`. */
export function endOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(closedPipeCode);
    });
  }
}
