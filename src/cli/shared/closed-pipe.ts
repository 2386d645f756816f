/** As a shell names the end of a process that writes to a closed pipe. */
const closedPipeCode = 141;

/** Ends the process silently when the reader of its output has closed it, as `| head` does. */
export function endOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(closedPipeCode);
    });
  }
}
