import type { ClientTool, Tool } from './conversation.ts';

export class ClientTools {
  readonly #byName: ReadonlyMap<string, ClientTool>;

  constructor(tools: ReadonlyArray<Pick<Tool, 'name' | 'client'>>) {
    this.#byName = new Map(tools.map(({ name, client }) => [name, client]));
  }

  /** The tool of a name. A name that the request does not have is that of a function. */
  of(name: string): ClientTool {
    return this.#byName.get(name) ?? { form: 'function', namespace: null, name };
  }

  /** Whether the client takes one free text for a tool: its schema is then that of an object with the text `input`. */
  isFreeText(name: string): boolean {
    return this.#byName.get(name)?.form === 'custom';
  }
}
