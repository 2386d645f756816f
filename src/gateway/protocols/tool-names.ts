import { hash } from 'node:crypto';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { ClientTool, Tool, ToolForm } from '#gateway/neutral/conversation.ts';
import { refuse } from './parsing.ts';

/**
 * Every provider accepts such a name of a function. OpenAI has at most 64 of these characters
 * (https://platform.openai.com/docs/api-reference/chat/create), Anthropic 128
 * (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
 */
const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const otherCharacter = /[^a-zA-Z0-9_-]/g;
const maxCharacters = 64;

/** Number of digits in a name that is changed, with the underscore before them. */
const hashDigits = 8;
const maxBeginning = maxCharacters - hashDigits - 1;

/** The namespace of OpenAI's tools that have none. */
const defaultNamespace = 'functions';

/** The namespace of a built-in tool for targets, where the client has a function of its name. */
const builtInNamespace = 'openai';

/**
 * The names of tools for the targets of a request. Only Responses has namespaces, and a client may use names that a
 * provider refuses. The names depend on the request alone, so that every node and every turn decides alike. Names are
 * given in the order of the request: of two tools that would get one name, the first keeps it.
 */
export class ToolNames {
  readonly #byTool = new Map<string, string>();
  readonly #clients = new Map<string, ClientTool>();

  /**
   * A name that is the same for the declaration of a tool and for its calls. It is the tool's own name, or that of its
   * namespace before it. Where a provider would refuse that, or another tool has it, its beginning is followed by a
   * hash of the namespace and the name.
   * @param namespace null for none
   */
  nameOf(namespace: string | null, name: string): string {
    const hasNamespace = namespace !== null && namespace !== '' && namespace !== defaultNamespace;
    return this.#nameFor(
      JSON.stringify(hasNamespace ? [namespace, name] : [name]),
      hasNamespace ? `${namespace}__${name}` : name,
      { form: 'function', namespace, name },
    );
  }

  /** The name of a tool that OpenAI's models know by its form. Called after `nameOf` of the client's tools. */
  nameOfBuiltIn(form: ToolForm): string {
    const wanted = this.#clients.has(form) ? `${builtInNamespace}__${form}` : form;
    return this.#nameFor(`built-in:${form}`, wanted, { form, namespace: null, name: form });
  }

  /** The tools that are declared, and those of the history, which a model may call again. */
  clientTools(declared: ReadonlyArray<Tool>): ClientTools {
    return new ClientTools([...[...this.#clients].map(([name, client]) => ({ name, client })), ...declared]);
  }

  #nameFor(tool: string, wanted: string, client: ClientTool): string {
    const known = this.#byTool.get(tool);
    if (known !== undefined) return known;
    const given = this.#freeName(wanted, tool);
    this.#byTool.set(tool, given);
    this.#clients.set(given, client);
    return given;
  }

  #freeName(wanted: string, tool: string): string {
    if (accepted.test(wanted) && !this.#clients.has(wanted)) return wanted;
    const beginning = wanted.slice(0, maxBeginning).replace(otherCharacter, '_');
    for (let round = 0; ; round += 1) {
      const hashed = hash('sha256', round === 0 ? tool : `${tool}${round}`).slice(0, hashDigits);
      const name = `${beginning}_${hashed}`;
      if (!this.#clients.has(name)) return name;
    }
  }
}

/** Maximum length of a name. Of a text with more than 64 KiB, a parsed request has only the beginning. */
const maxNameCharacters = 1_024;

export function shortName(name: string, pointer: string): string {
  return name.length > maxNameCharacters
    ? refuse(pointer, `the name of a tool may have ${maxNameCharacters} characters at most`)
    : name;
}
