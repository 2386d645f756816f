import fc from 'fast-check';

/** A call as a provider makes it. */
export interface MixedCall {
  /** Null if the provider sends none. */
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
}

/** A stream of a provider that mixes the pieces of its parts, and what all the pieces of each kind say. */
export interface MixedAnswer {
  readonly stream: string;
  readonly text: string;
  readonly reasoning: string;
  /** In the order in which they begin. */
  readonly calls: ReadonlyArray<MixedCall>;
}

/** How a provider of chats says to which call a piece belongs. */
interface ChatStyle {
  readonly index: 'own' | 'zero' | 'none';
  readonly id: 'first' | 'each' | 'none';
  readonly name: 'first' | 'each';
  /** What the first piece of a call has in place of arguments; null if it has some. */
  readonly beginsWith: '' | '{}' | null;
  /** Whether the reason of the end comes before the last piece of a call. */
  readonly endsEarly: boolean;
}

/** How a provider of Messages sends blocks. */
interface MessagesStyle {
  readonly hasIds: boolean;
  /** Whether arguments are in the beginning of a block. */
  readonly inStart: boolean;
}

/** How a server of Responses sends items. */
interface ResponsesStyle {
  readonly hasCallIds: boolean;
  /** How an event says to which item it belongs. */
  readonly names: 'id' | 'place' | 'both';
  /** Where the arguments of a call are. */
  readonly given: 'pieces' | 'end' | 'item';
  /** Whether items end. */
  readonly ends: boolean;
}

/** A part, and the lengths of its pieces. */
interface Part {
  readonly kind: 'text' | 'reasoning' | 'call';
  readonly text: string;
  readonly name: string;
  readonly lengths: ReadonlyArray<number>;
  /** Whether the arguments come as an object, in one piece. */
  readonly isValue: boolean;
}

interface Piece {
  readonly part: Part;
  /** The place of the part among those that have begun. */
  readonly place: number;
  readonly text: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 });

const parts: fc.Arbitrary<ReadonlyArray<Part>> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: partOf('text', text) },
    { weight: 1, arbitrary: partOf('reasoning', text) },
    {
      weight: 2,
      arbitrary: partOf(
        'call',
        fc.tuple(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })), fc.boolean()).map(argumentsOf),
      ),
    },
  ),
  { minLength: 1, maxLength: 6 },
);

function partOf(kind: Part['kind'], said: fc.Arbitrary<string>): fc.Arbitrary<Part> {
  const name = fc.constantFrom('read', 'list');
  return fc
    .tuple(said, name, lengths, fc.boolean())
    .map(([whole, called, cuts, isValue]) => ({ kind, text: whole, name: called, lengths: cuts, isValue }));
}

/** With spaces or without. An event has no line breaks. */
function argumentsOf([value, isIndented]: [object, boolean]): string {
  return JSON.stringify(value, null, isIndented ? 1 : 0).replaceAll('\n', ' ');
}

/** The texts of the pieces of a part. */
function cut({ text: whole, lengths: cuts }: Part): ReadonlyArray<string> {
  const pieces: string[] = [];
  for (let at = 0; at < whole.length; ) {
    const length = cuts[pieces.length % cuts.length] as number;
    pieces.push(whole.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/**
 * Mixes the pieces of parts.
 * @param picks choose the part of each next piece
 * @param mixesCalls whether pieces of several calls may be mixed
 */
function* mixed(all: ReadonlyArray<Part>, picks: ReadonlyArray<number>, mixesCalls: boolean): Iterable<Piece> {
  const open = all.map((part) => ({ part, pieces: part.isValue ? [part.text] : cut(part), next: 0, place: -1 }));
  let begun = 0;
  for (let step = 0; open.length > 0; step += 1) {
    const running = open.find(({ part, next }) => part.kind === 'call' && next > 0);
    const possible =
      mixesCalls || running === undefined ? open : open.filter((each) => each === running || each.part.kind !== 'call');
    const chosen = possible[(picks[step % picks.length] as number) % possible.length] as (typeof open)[number];
    const { part, pieces, next } = chosen;
    if (next === 0) {
      chosen.place = begun;
      begun += 1;
    }
    chosen.next += 1;
    const isLast = chosen.next === pieces.length;
    if (isLast) open.splice(open.indexOf(chosen), 1);
    yield { part, place: chosen.place, text: pieces[next] as string, isFirst: next === 0, isLast };
  }
}

/** What all pieces say together. */
function summed(pieces: ReadonlyArray<Piece>, idAt: (place: number) => string | null): Omit<MixedAnswer, 'stream'> {
  const said = (kind: Part['kind']) =>
    pieces.flatMap((piece) => (piece.part.kind === kind ? [piece.text] : [])).join('');
  const calls = pieces.flatMap(({ part, place, isFirst }) =>
    part.kind === 'call' && isFirst ? [{ id: idAt(place), name: part.name, arguments: part.text }] : [],
  );
  return { text: said('text'), reasoning: said('reasoning'), calls };
}

const chatStyle: fc.Arbitrary<ChatStyle> = fc.record({
  index: fc.constantFrom('own', 'zero', 'none'),
  id: fc.constantFrom('first', 'each', 'none'),
  name: fc.constantFrom('first', 'each'),
  beginsWith: fc.constantFrom('', '{}', null),
  endsEarly: fc.boolean(),
});

const idAt = (place: number) => `call_${place}`;

function chatAnswer(all: ReadonlyArray<Part>, picks: ReadonlyArray<number>, style: ChatStyle): MixedAnswer {
  const pieces = [...mixed(all, picks, style.index === 'own' || style.id === 'each')];
  const indexes = new Map<number, number>();
  const chunks = pieces.flatMap((piece) => {
    if (piece.part.kind === 'text') return [`{"content":${JSON.stringify(piece.text)}}`];
    if (piece.part.kind === 'reasoning') return [`{"reasoning_content":${JSON.stringify(piece.text)}}`];
    if (!indexes.has(piece.place)) indexes.set(piece.place, indexes.size);
    return callDeltas(piece, indexes.get(piece.place) as number, style);
  });
  const hasCalls = all.some(({ kind }) => kind === 'call');
  const choices = [
    ...chunks.map((delta) => `{"index":0,"delta":${delta},"finish_reason":null}`),
    `{"index":0,"delta":{},"finish_reason":"${hasCalls ? 'tool_calls' : 'stop'}"}`,
  ];
  const last = pieces.at(-1);
  if (style.endsEarly && last?.part.kind === 'call' && !last.isFirst) choices.push(...choices.splice(-2, 1));
  const frames = choices.map((choice) => `data: {"id":"x","model":"m","choices":[${choice}]}\n\n`);
  return { stream: `${frames.join('')}data: [DONE]\n\n`, ...summed(pieces, style.id === 'none' ? () => null : idAt) };
}

function callDeltas(piece: Piece, number: number, style: ChatStyle): ReadonlyArray<string> {
  const { part, place, text: given, isFirst } = piece;
  const index = style.index === 'none' ? [] : [`"index":${style.index === 'own' ? number : 0}`];
  const deltaOf = (isBeginning: boolean, value: string) => {
    const id = style.id === 'each' || (style.id === 'first' && isBeginning) ? [`"id":"${idAt(place)}"`] : [];
    const name = style.name === 'each' || isBeginning ? [`"name":"${part.name}"`] : [];
    const asked = `"function":{${[...name, `"arguments":${value}`].join(',')}}`;
    return `{"tool_calls":[{${[...index, ...id, '"type":"function"', asked].join(',')}}]}`;
  };
  const value = part.isValue ? given : JSON.stringify(given);
  if (!isFirst) return [deltaOf(false, value)];
  if (style.beginsWith === null) return [deltaOf(true, value)];
  // With the name again, a call without an id is another one.
  const begin = style.name === 'each' && (style.index !== 'own' || style.id !== 'each') ? '' : style.beginsWith;
  return [deltaOf(true, JSON.stringify(begin)), deltaOf(false, value)];
}

const messagesStyle: fc.Arbitrary<MessagesStyle> = fc.record({ hasIds: fc.boolean(), inStart: fc.boolean() });

function messagesAnswer(all: ReadonlyArray<Part>, picks: ReadonlyArray<number>, style: MessagesStyle): MixedAnswer {
  const pieces = [...mixed(all, picks, true)];
  const hasCalls = all.some(({ kind }) => kind === 'call');
  const events = [
    '{"type":"message_start","message":{"id":"x","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}',
    ...pieces.flatMap((piece) => blockEvents(piece, style)),
    `{"type":"message_delta","delta":{"stop_reason":"${hasCalls ? 'tool_use' : 'end_turn'}"},"usage":{"output_tokens":2}}`,
    '{"type":"message_stop"}',
  ];
  const stream = events.map((event) => `event: x\ndata: ${event}\n\n`).join('');
  return { stream, ...summed(pieces, style.hasIds ? idAt : () => null) };
}

function blockEvents({ part, place, text: said, isFirst, isLast }: Piece, style: MessagesStyle): ReadonlyArray<string> {
  const isInStart = part.kind === 'call' && part.isValue && style.inStart;
  const id = style.hasIds ? `"id":"${idAt(place)}",` : '';
  const block = {
    text: '{"type":"text","text":""}',
    reasoning: '{"type":"thinking","thinking":"","signature":""}',
    call: `{"type":"tool_use",${id}"name":"${part.name}","input":${isInStart ? said : '{}'}}`,
  }[part.kind];
  const delta = {
    text: `{"type":"text_delta","text":${JSON.stringify(said)}}`,
    reasoning: `{"type":"thinking_delta","thinking":${JSON.stringify(said)}}`,
    call: `{"type":"input_json_delta","partial_json":${JSON.stringify(said)}}`,
  }[part.kind];
  return [
    ...(isFirst ? [`{"type":"content_block_start","index":${place},"content_block":${block}}`] : []),
    ...(isInStart ? [] : [`{"type":"content_block_delta","index":${place},"delta":${delta}}`]),
    ...(isLast ? [`{"type":"content_block_stop","index":${place}}`] : []),
  ];
}

const responsesStyle: fc.Arbitrary<ResponsesStyle> = fc.record({
  hasCallIds: fc.boolean(),
  names: fc.constantFrom('id', 'place', 'both'),
  given: fc.constantFrom('pieces', 'end', 'item'),
  ends: fc.boolean(),
});

function responsesAnswer(all: ReadonlyArray<Part>, picks: ReadonlyArray<number>, style: ResponsesStyle): MixedAnswer {
  const pieces = [...mixed(all, picks, true)];
  const events = [
    '{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}',
    ...pieces.flatMap((piece) => itemEvents(piece, style)),
    '{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[]}}',
  ];
  const stream = events.map((event) => `data: ${event}\n\n`).join('');
  return { stream, ...summed(pieces, style.hasCallIds ? idAt : () => null) };
}

function itemEvents({ part, place, text: said, isFirst, isLast }: Piece, style: ResponsesStyle): ReadonlyArray<string> {
  const { names, given, hasCallIds, ends } = style;
  const at = names === 'id' ? '' : `,"output_index":${place}`;
  const id = names === 'place' ? '' : `,"item_id":"item_${place}"`;
  const callId = hasCallIds ? `"call_id":"${idAt(place)}",` : '';
  const item = (value: string) => {
    const own = names === 'place' ? '' : `"id":"item_${place}",`;
    const call = `{${own}${callId}"type":"function_call","name":"${part.name}","arguments":${value}}`;
    return part.kind === 'call' ? call : `{${own}"type":"${part.kind === 'text' ? 'message' : 'reasoning'}"}`;
  };
  const type = { text: 'output_text', reasoning: 'reasoning_summary_text', call: 'function_call_arguments' }[part.kind];
  const whole = part.kind === 'call' && part.isValue ? part.text : JSON.stringify(part.text);
  const isInItem = part.kind === 'call' && (part.isValue || (given === 'item' && ends));
  const isInEnd = part.kind === 'call' && given !== 'pieces';
  const piece = `{"type":"response.${type}.delta"${id}${at},"delta":${JSON.stringify(said)}}`;
  const end = `{"type":"response.${type}.done"${id}${at},"${part.kind === 'call' ? 'arguments' : 'text'}":${whole}}`;
  return [
    ...(isFirst ? [`{"type":"response.output_item.added"${at},"item":${item('""')}}`] : []),
    ...(isInItem || isInEnd ? [] : [piece]),
    ...(isLast && !(isInItem && ends) && (ends || isInEnd || isInItem) ? [end] : []),
    ...(isLast && ends ? [`{"type":"response.output_item.done"${at},"item":${item(whole)}}`] : []),
  ];
}

const picks = fc.array(fc.nat(20), { minLength: 1, maxLength: 40 });

/** Any stream of a provider that mixes its parts. */
export function mixedAnswers(protocol: string): fc.Arbitrary<MixedAnswer> {
  if (protocol === 'openai-chat') return fc.tuple(parts, picks, chatStyle).map((each) => chatAnswer(...each));
  return protocol === 'openai-responses'
    ? fc.tuple(parts, picks, responsesStyle).map((each) => responsesAnswer(...each))
    : fc.tuple(parts, picks, messagesStyle).map((each) => messagesAnswer(...each));
}
