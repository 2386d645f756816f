type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Where the projections' notable moments are told: a part of pino's logger. */
export interface Log {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
