import type { ClientTool, Tool } from './conversation.ts';

/** The tools of a request, by the names that targets know. */
export class ClientTools {
  readonly #byName: ReadonlyMap<string, ClientTool>;

  constructor(tools: ReadonlyArray<Pick<Tool, 'name' | 'client'>>) {
    this.#byName = new Map(tools.map(({ name, client }) => [name, client]));
  }

  /** Returns how the client knows a tool that a model calls. One that the request does not have is a function of that name. */
  of(name: string): ClientTool {
    return this.#byName.get(name) ?? { form: 'function', namespace: null, name };
  }

  /** Whether the client takes one free text for a tool: its schema is then that of an object with the text `input`. */
  isFreeText(name: string): boolean {
    return this.#byName.get(name)?.form === 'custom';
  }
}
