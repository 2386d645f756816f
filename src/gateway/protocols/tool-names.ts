import { hash } from 'node:crypto';
import { refuse } from './parsing.ts';

/**
 * What every provider takes as the name of a function. OpenAI has at most 64 of these characters
 * (https://platform.openai.com/docs/api-reference/chat/create), Anthropic 128
 * (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
 */
const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const otherCharacter = /[^a-zA-Z0-9_-]/g;
const maxCharacters = 64;

/** Hex digits of the hash in a name that is changed, and the underscore before them. */
const hashDigits = 8;
const maxBeginning = maxCharacters - hashDigits - 1;

/** The namespace of OpenAI's tools that have none. */
const defaultNamespace = 'functions';

/** The namespace of a built-in tool for targets, where the client has a function of its name. */
const builtInNamespace = 'openai';

/**
 * The names of a request's tools for its targets. Only Responses has namespaces, and a client may use names that a
 * provider refuses. The names depend on the request alone, so that every node and every turn decides alike. Names are
 * asked for in the order of the request: of two tools that would get one name, the first keeps it.
 */
export class ToolNames {
  readonly #byTool = new Map<string, string>();
  readonly #given = new Set<string>();

  /**
   * Returns the name of a tool, which is the same for its declaration and for its calls. It is the tool's own name, or
   * that of its namespace before it. Where a provider would refuse that, or another tool has it, its beginning is
   * followed by a hash of the namespace and the name.
   * @param namespace null for none
   */
  nameOf(namespace: string | null, name: string): string {
    const hasNamespace = namespace !== null && namespace !== '' && namespace !== defaultNamespace;
    return this.#nameFor(
      JSON.stringify(hasNamespace ? [namespace, name] : [name]),
      hasNamespace ? `${namespace}__${name}` : name,
    );
  }

  /** Returns the name of a tool that OpenAI's models know by its form. The client's tools are asked for before it. */
  nameOfBuiltIn(form: string): string {
    return this.#nameFor(`built-in:${form}`, this.#given.has(form) ? `${builtInNamespace}__${form}` : form);
  }

  #nameFor(tool: string, wanted: string): string {
    const known = this.#byTool.get(tool);
    if (known !== undefined) return known;
    const given = this.#freeName(wanted, tool);
    this.#byTool.set(tool, given);
    this.#given.add(given);
    return given;
  }

  #freeName(wanted: string, tool: string): string {
    if (accepted.test(wanted) && !this.#given.has(wanted)) return wanted;
    const beginning = wanted.slice(0, maxBeginning).replace(otherCharacter, '_');
    for (let round = 0; ; round += 1) {
      const hashed = hash('sha256', round === 0 ? tool : `${tool}${round}`).slice(0, hashDigits);
      const name = `${beginning}_${hashed}`;
      if (!this.#given.has(name)) return name;
    }
  }
}

/** Maximum characters of a tool's name. Of a text with more than 64 KiB, a parsed request has only the beginning. */
const maxNameCharacters = 1_024;

/** A name of a tool or of its namespace, which is not too long. */
export function shortName(name: string, pointer: string): string {
  return name.length > maxNameCharacters
    ? refuse(pointer, `the name of a tool may have ${maxNameCharacters} characters at most`)
    : name;
}
