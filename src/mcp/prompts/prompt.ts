import type { Json } from '#shared/json/json.ts';

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** The query whose path parameter it is, for completion of ids; null for other texts. */
  readonly completedBy: { readonly path: string; readonly parameter: string } | null;
}

/** The arguments of a request for a prompt, by name. */
export type GivenArguments = Readonly<Record<string, string>>;

/** Reads for a prompt what it is about. */
export interface PromptReader {
  /** Whether the caller may ask a query, and there is one of that name. */
  readonly canAsk: (query: string) => boolean;
  /** Asks a query, and puts its answer into the prompt. @throws ProtocolError where it is refused */
  readonly include: (query: string, input: GivenArguments) => Promise<Json>;
  /** Asks a query. @throws ProtocolError where it is refused */
  readonly ask: (query: string, input: GivenArguments) => Promise<Json>;
}

/** Words to begin a task with, and the records that it is about. */
export interface PromptDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: ReadonlyArray<PromptArgument>;
  /** The queries without which it makes no sense: a key that may not ask them does not see it. */
  readonly needs: ReadonlyArray<string>;
  readonly read: (reader: PromptReader, given: GivenArguments) => Promise<void>;
  readonly text: (given: GivenArguments) => string;
}
