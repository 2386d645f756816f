import { lastMember, scalarValue, type ValuePlace } from '#gateway/framing/json-members.ts';
import {
  applyEdits,
  asciiJson,
  type Edit,
  editsOf,
  inPlace,
  itemRemovals,
  type Splice,
} from '#gateway/framing/splice.ts';
import type { Signature, Unsupported } from '#gateway/neutral/conversation.ts';
import { leftOutMessage } from '#gateway/protocols/parsing.ts';
import type { NativeTarget, WrittenRequest } from '#gateway/protocols/protocol.ts';
import { signatureIn } from '#gateway/protocols/signature-text.ts';
import { HostedTools } from './hosted-tools.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Asks for the opaque part of reasoning, without which a later turn cannot give it back. */
export const wantedInclude = 'reasoning.encrypted_content';

/**
 * The body for a target of the same protocol. The model is replaced, the provider does not store the response, OpenAI's
 * own tools are left out where it does not run them, what is opaque goes back only to the provider that has made it,
 * and states are cut out of the ids of calls. Every other byte is unchanged.
 */
export function responsesBody(request: ResponsesRequest, target: NativeTarget): WrittenRequest {
  const { bytes, members, before, isStored, isInBackground } = request;
  // Without its own copy, a provider could not make a response in the background.
  const isKeptHereAlone = isStored && !isInBackground;
  const edits = editsOf(members, {
    replace: { model: asciiJson(target.model), ...(isKeptHereAlone ? { store: 'false' } : {}) },
    add: isKeptHereAlone ? ['store'] : [],
    remove: before === null ? [] : ['previous_response_id'],
  });
  const hosted = target.hostedTools ? null : new HostedTools(request);
  const foreign = foreignItems(request, target);
  const keepsInput = request.items.length > foreign.size;
  const removed = itemRemovals(request.items, foreign);
  const more: ReadonlyArray<Splice> = [
    ...(before === null ? [] : inputEdits(request, before.textFor(target.provider), keepsInput)),
    ...(isStored && target.reasoning ? includeEdits(request) : []),
    ...outside(removed, inPlace([...(hosted?.cuts ?? []), ...opaqueEdits(request, target)])),
    ...removed,
  ];
  const all = more.length === 0 ? edits : inPlace<Splice>([...edits, ...more]);
  return {
    body: applyEdits(bytes, inPlace([...all, ...outside(all, request.callIdEdits)])),
    ignored: leftOut(request, hosted, foreign),
  };
}

/** Pointers to what is left out, without reasoning of other providers. */
function leftOut(
  { items }: ResponsesRequest,
  hosted: HostedTools | null,
  foreign: ReadonlySet<number>,
): ReadonlyArray<string> {
  const named = [...foreign].filter((index) => items[index]?.type !== 'reasoning');
  return [...(hosted?.pointers ?? []), ...named.map((index) => `/input/${index}`)];
}

/** Edits that are not in what others cut. Both come in order. */
function outside(cuts: ReadonlyArray<Splice>, edits: ReadonlyArray<Splice>): ReadonlyArray<Splice> {
  let next = 0;
  return edits.filter(({ start }) => {
    while ((cuts[next]?.end ?? start) < start) next += 1;
    return start < (cuts[next]?.start ?? Number.POSITIVE_INFINITY);
  });
}

export interface NamedContainer {
  readonly pointer: string;
  readonly provider: string;
}

/**
 * What a target without OpenAI's own tools cannot do: answer in the background, run a tool that is forced, or any of
 * them for a strict client. One with these tools has no containers of another provider.
 * @param isStrict whether nothing may be left out
 */
export function unsupportedByTarget(
  request: ResponsesRequest,
  containers: ReadonlyArray<NamedContainer>,
  target: NativeTarget,
  isStrict: () => boolean,
): Unsupported | null {
  const elsewhere = target.hostedTools && containers.find(({ provider }) => provider !== target.provider);
  if (elsewhere) return { pointer: elsewhere.pointer, message: 'another provider has the container' };
  if (!target.hostedTools && request.isInBackground) return noBackground;
  const hosted = target.hostedTools ? null : new HostedTools(request);
  const demand = hosted?.demand ?? null;
  if (demand !== null || !isStrict()) return demand;
  const [pointer] = leftOut(request, hosted, foreignItems(request, target));
  return pointer === undefined ? null : { pointer, message: leftOutMessage };
}

export const noBackground: Unsupported = {
  pointer: '/background',
  message: 'the target makes no responses in the background',
};

function includeEdits({ bytes, members }: ResponsesRequest): ReadonlyArray<Edit> {
  const wanted = asciiJson(wantedInclude);
  const include = lastMember(members, 'include');
  if (include === undefined)
    return [{ start: members.open + 1, end: members.open + 1, text: `"include":[${wanted}],` }];
  const { valueStart, end, size } = include;
  if (bytes.includes(wanted) && bytes.subarray(valueStart, end).includes(wanted)) return [];
  if (!Array.isArray(scalarValue(bytes, include))) return [{ start: valueStart, end, text: `[${wanted}]` }];
  return [{ start: end - 1, end: end - 1, text: size === 0 ? wanted : `,${wanted}` }];
}

/**
 * Edits that put items before the input.
 * @param texts the JSON texts of the items, in pieces, with commas between them; empty for none
 * @param keepsInput whether the input keeps some of its items
 */
export function inputEdits(
  { bytes, members }: ResponsesRequest,
  texts: ReadonlyArray<Buffer>,
  keepsInput: boolean,
): ReadonlyArray<Splice> {
  const input = lastMember(members, 'input');
  if (input === undefined) {
    const text = [Buffer.from('"input":['), ...texts, Buffer.from('],')];
    return [{ start: members.open + 1, end: members.open + 1, text }];
  }
  if (texts.length === 0) return [];
  const { valueStart, end } = input;
  if (typeof scalarValue(bytes, input) === 'string') {
    return [
      { start: valueStart, end: valueStart, text: [Buffer.from('['), ...texts, Buffer.from(`,${messageStart}`)] },
      { start: end, end, text: '}]' },
    ];
  }
  return [{ start: valueStart + 1, end: valueStart + 1, text: keepsInput ? [...texts, comma] : texts }];
}

export const messageStart = '{"type":"message","role":"user","content":';

const comma = Buffer.from(',');

/** Edits for the opaque part of an item, which goes back to the provider that made it. */
function opaqueEdits({ bytes, items }: ResponsesRequest, { provider }: NativeTarget): ReadonlyArray<Edit> {
  return items.flatMap(({ encryptedContent: place }) => {
    const signature = signatureAt(bytes, place);
    if (signature === null || place === null || signature.of !== provider) return [];
    return [{ start: place.valueStart, end: place.end, text: asciiJson(signature.value) }];
  });
}

/** Indexes of items that this provider cannot read. */
function foreignItems({ bytes, items }: ResponsesRequest, { provider }: NativeTarget): ReadonlySet<number> {
  const foreign = items.flatMap(({ encryptedContent }, index) => {
    const signature = signatureAt(bytes, encryptedContent);
    return signature === null || signature.of === provider ? [] : [index];
  });
  return new Set(foreign);
}

function signatureAt(bytes: Buffer, place: ValuePlace | null): Signature | null {
  const value = place === null ? null : scalarValue(bytes, place);
  return typeof value === 'string' ? signatureIn(value) : null;
}
