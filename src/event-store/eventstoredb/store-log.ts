type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Where the adapter tells what an operator may have to know: a part of pino's logger. */
export interface StoreLog {
  readonly debug: Write;
  readonly warn: Write;
  readonly error: Write;
}
