type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The part of pino's logger that the service uses. */
export interface Logger {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** A logger with a level for the search of faults. */
export interface DebugLogger extends Logger {
  readonly debug: Write;
}
