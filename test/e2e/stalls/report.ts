const isWanted = process.env.STALL_REPORT !== undefined;

/** Prints a line about what was measured, if `STALL_REPORT` is set. */
export function report(line: string): void {
  if (isWanted) process.stderr.write(`${line}\n`);
}
