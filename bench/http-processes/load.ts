/** The load to send, read as JSON from the standard input. */
export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** The requests, which the connections send in turn. */
  readonly paths: ReadonlyArray<string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly connections: number;
  readonly seconds: number;
}

/** The result, printed as JSON. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of unsuccessful answers and requests without an answer. */
  readonly failed: number;
}
