import type { Json } from '#shared/json/json.ts';

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** The query with this path parameter, for the completion of ids; null for other arguments. */
  readonly completedBy: { readonly path: string; readonly parameter: string } | null;
}

/** The arguments of a request for a prompt, by name. */
export type GivenArguments = Readonly<Record<string, string>>;

/** Reads the records for a prompt. */
export interface PromptReader {
  /** Whether a query with this name exists and the caller may use it. */
  readonly canAsk: (query: string) => boolean;
  /** Runs a query, and adds its answer to the prompt. @throws ProtocolError if the query is refused */
  readonly include: (query: string, input: GivenArguments) => Promise<Json>;
  /** Runs a query. @throws ProtocolError if it is refused */
  readonly ask: (query: string, input: GivenArguments) => Promise<Json>;
}

/** A prompt: a text that starts a task, and the records for it. */
export interface PromptDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: ReadonlyArray<PromptArgument>;
  /** The queries that the prompt needs. A key that may not use them does not see the prompt. */
  readonly needs: ReadonlyArray<string>;
  readonly read: (reader: PromptReader, given: GivenArguments) => Promise<void>;
  readonly text: (given: GivenArguments) => string;
}
