import { lastMember, type Members, scalarMember } from '#gateway/framing/json-members.ts';
import { type Edit, itemRemovals } from '#gateway/framing/splice.ts';
import type { Unsupported } from '#gateway/neutral/conversation.ts';
import type { ResponsesRequest } from './responses-request.ts';
import type { ListedTool, ToolList } from './tool-lists.ts';

/** Tools that run at OpenAI alone, in addition to `web_search…` and a shell in a container. */
const hostedTypes: ReadonlySet<string> = new Set(['file_search', 'code_interpreter', 'mcp', 'image_generation']);

/**
 * True for a tool that runs at OpenAI (https://developers.openai.com/api/docs/guides/tools). All others run at the
 * client, or are unknown, and the provider judges them.
 */
function isHosted({ type, environment }: Pick<ListedTool, 'type' | 'environment'>): boolean {
  if (type === 'shell') return environment?.startsWith('container') === true;
  return type !== null && (hostedTypes.has(type) || type.startsWith('web_search'));
}

interface ToolsOfList {
  readonly list: ToolList;
  readonly indexes: ReadonlySet<number>;
}

export class HostedTools {
  readonly #request: ResponsesRequest;
  readonly #declared: ReadonlyArray<ToolsOfList>;
  readonly #allowed: ReadonlyArray<ToolsOfList>;

  /**
   * Reads the tools of the request and of each item that adds tools: a provider refuses both alike. The tools in a
   * namespace are not read, because OpenAI accepts nothing there but functions and custom tools.
   */
  constructor(request: ResponsesRequest) {
    this.#request = request;
    this.#declared = request.tools.map((list) => hostedIn(list, isHosted));
    // A choice names a shell without its environment.
    const hasHostedShell = request.tools.some(({ tools }) => tools.some(isHostedShell));
    const isChosenHosted = (tool: ListedTool) => isHosted(tool) || (tool.type === 'shell' && hasHostedShell);
    this.#allowed = request.allowedTools.map((list) => hostedIn(list, isChosenHosted));
  }

  get pointers(): ReadonlyArray<string> {
    return [...this.#declared, ...this.#allowed].flatMap(({ list: { pointer }, indexes }) =>
      [...indexes].map((index) => `${pointer}/${index}`),
    );
  }

  /** The edits that remove them. A choice that allows nothing else allows no tool. */
  get cuts(): ReadonlyArray<Edit> {
    const declared = this.#declared.flatMap(({ list, indexes }) => itemRemovals(list.tools, indexes));
    const choice = lastMember(this.#request.members, 'tool_choice');
    if (choice === undefined) return declared;
    if (this.#allowed.some(isWhole))
      return [...declared, { start: choice.valueStart, end: choice.end, text: '"none"' }];
    return [...declared, ...this.#allowed.flatMap(({ list, indexes }) => itemRemovals(list.tools, indexes))];
  }

  /** What a target that runs none of them cannot do: call one that is forced, or any tool if there is no other. */
  get demand(): Unsupported | null {
    const { bytes, members } = this.#request;
    const choice = scalarMember(bytes, members, 'tool_choice');
    if (choice === 'required') return this.#declared.some(isWhole) && !this.#declared.some(hasOther) ? noTool : null;
    const inside = lastMember(members, 'tool_choice')?.inside ?? null;
    return inside === null ? null : this.#demandOf(inside);
  }

  #demandOf(choice: Members): Unsupported | null {
    const { bytes } = this.#request;
    const type = scalarMember(bytes, choice, 'type');
    if (typeof type !== 'string') return null;
    if (type === 'allowed_tools')
      return scalarMember(bytes, choice, 'mode') === 'required' && this.#allowed.some(isWhole) ? noTool : null;
    const environment = this.#request.tools.some(({ tools }) => tools.some(isHostedShell)) ? 'container' : null;
    return isHosted({ type, environment }) ? notRun : null;
  }
}

const noTool: Unsupported = {
  pointer: '/tool_choice',
  message: 'demands a call of a tool, and this target gets no tool',
};

const notRun: Unsupported = { pointer: '/tool_choice', message: 'the target does not run this tool' };

function hostedIn(list: ToolList, isCut: (tool: ListedTool) => boolean): ToolsOfList {
  return { list, indexes: new Set(list.tools.flatMap((tool, index) => (isCut(tool) ? [index] : []))) };
}

function isHostedShell(tool: ListedTool): boolean {
  return tool.type === 'shell' && isHosted(tool);
}

function isWhole({ list, indexes }: ToolsOfList): boolean {
  return indexes.size > 0 && indexes.size === list.tools.length;
}

function hasOther({ list, indexes }: ToolsOfList): boolean {
  return indexes.size < list.tools.length;
}
