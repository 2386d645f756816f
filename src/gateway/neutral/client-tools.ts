import type { ClientTool, Tool } from './conversation.ts';

export class ClientTools {
  readonly #byName: ReadonlyMap<string, ClientTool>;

  constructor(tools: ReadonlyArray<Pick<Tool, 'name' | 'client'>>) {
    this.#byName = new Map(tools.map(({ name, client }) => [name, client]));
  }

  /** A tool that the request does not have is a function of that name. */
  of(name: string): ClientTool {
    return this.#byName.get(name) ?? { form: 'function', namespace: null, name };
  }

  /** Whether the client takes one free text for a tool: its schema is then that of an object with the text `input`. */
  isFreeText(name: string): boolean {
    return this.#byName.get(name)?.form === 'custom';
  }
}
