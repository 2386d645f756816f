type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Writes log lines, each with fields and a message: the part of pino's logger that the service uses. */
export interface Logger {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** A logger that also accepts lines for the search of faults. */
export interface DebugLogger extends Logger {
  readonly debug: Write;
}
