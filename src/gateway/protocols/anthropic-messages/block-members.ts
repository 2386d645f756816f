import type { ValuePlace } from '#gateway/framing/json-members.ts';
import { PathWalk, pathTree } from '#gateway/framing/path-tree.ts';
import { CallIdEdits } from '#gateway/protocols/call-id-edits.ts';
import { callIdForMessages } from '#gateway/protocols/call-id-rules.ts';
import { ownPrefix } from '#gateway/protocols/signature-text.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';

type Kind = 'signature' | 'id';

/** A signature is of thinking, or all that there is of hidden thinking. */
const kinds: Readonly<Record<string, Kind>> = {
  signature: 'signature',
  data: 'signature',
  id: 'id',
  tool_use_id: 'id',
};

const paths = pathTree(
  Object.entries(kinds).map(([name, kind]) => [['messages', '*', 'content', '*', name], kind] as const),
);

/** The beginning of signatures that the gateway has written, which are not Anthropic's. */
const foreign = Buffer.from(`"${ownPrefix}`);
const emptyText = '""';

/** Reads what is Anthropic's alone in the blocks of messages, while a scanner reads a request: signatures and ids of calls. */
export class BlockMembers implements JsonListener {
  readonly maxLevel = 5;
  readonly callIds: CallIdEdits;
  /** Whether there is reasoning that is not Anthropic's. */
  hasForeignReasoning = false;
  readonly #bytes: Buffer;
  readonly #walk: PathWalk<Kind>;
  #kind: Kind | null = null;
  #start = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.callIds = new CallIdEdits(bytes);
    this.#walk = new PathWalk(bytes, paths);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level > this.maxLevel) return;
    this.#kind = this.#walk.begin(level, nameStart, nameEnd);
    this.#start = start;
  }

  end(level: number, end: number): void {
    if (level !== this.maxLevel || this.#kind === null) return;
    const place = { valueStart: this.#start, end };
    if (this.#kind === 'id') this.callIds.add(place, callIdForMessages);
    else this.hasForeignReasoning ||= this.#isForeign(place);
  }

  #isForeign({ valueStart, end }: ValuePlace): boolean {
    return (
      end - valueStart === emptyText.length ||
      this.#bytes.subarray(valueStart, valueStart + foreign.length).equals(foreign)
    );
  }
}
