import { turn } from '#exchange/turns.ts';
import { noRoomForJson, parseForeignInTurns } from '#gateway/framing/foreign-json.ts';
import { lastMember, MemberCollector, type Members, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { applyEdits, editsOf } from '#gateway/framing/splice.ts';
import { answeredHere, type CallResult, type GatewayCall } from '#gateway/gateway-call.ts';
import { Replay } from '#gateway/protocols/openai-responses/replay.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { type ByteSpan, TurnScan } from '#responses/turn-scan.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { isObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { NoRoomError, sendPieces } from './send-pieces.ts';

/** Members that a response does not have when it begins. */
const unsaid = {
  status: '"in_progress"',
  output: '[]',
  usage: 'null',
  completed_at: 'null',
  incomplete_details: 'null',
};
const unsaidNames = wantedNames(Object.fromEntries(Object.keys(unsaid).map((name) => [name, []])));

/**
 * Sends a response again. Each item is parsed when its events are sent, and counts in the bytes of answers until the
 * client has taken them.
 * @param after the stream begins after the event with this number; null for all events
 */
export async function sendReplay(call: GatewayCall, turn: KeptTurn, after: number | null): Promise<CallResult> {
  call.client.start(200, ['Content-Type', 'text/event-stream']);
  try {
    await sendPieces(call.client, piecesOf(call, turn, after));
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
  }
  return answeredHere;
}

async function* piecesOf({ gateway: { admission }, held }: GatewayCall, { text }: KeptTurn, after: number | null) {
  const replay = new Replay(after);
  const { response } = text;
  const members = await membersOf(response);
  yield* replay.begin(begunText(response, members));
  for await (const { start, end } of outputItems(text.bytes)) {
    const bytes = end - start;
    if (admission.bytes(held, 'answer', bytes) !== null) throw new NoRoomError();
    let valueBytes = 0;
    const reserve = (more: number) => {
      valueBytes = more;
      return admission.bytes(held, 'answer', more) === null;
    };
    const stored = text.bytes.subarray(start, end);
    const item = await parseForeignInTurns(stored, { held, scan: null, reserve });
    if (item === noRoomForJson) throw new NoRoomError();
    yield* isObject(item) ? replay.item(item) : replay.largeItem(stored.toString('utf8'));
    held.answer.giveBack(bytes + valueBytes);
  }
  yield replay.end(response.toString('utf8'), scalarMember(response, members, 'status'));
}

async function membersOf(response: Buffer): Promise<Members> {
  const members = new MemberCollector(response, unsaidNames);
  const scanner = new JsonScanner(response, { maxValues: Number.POSITIVE_INFINITY }, members);
  while (!scanner.advance()) await turn(currentWorkOwner(), 'answer', scanner.bytesOfSlice);
  return members;
}

function begunText(response: Buffer, members: Members): string {
  const add = Object.keys(unsaid).filter((name) => lastMember(members, name) === undefined);
  return applyEdits(response, editsOf(members, { replace: unsaid, add })).toString('utf8');
}

async function* outputItems(bytes: Buffer): AsyncGenerator<ByteSpan> {
  let found: ByteSpan[] = [];
  const scan = new TurnScan(bytes, (item) => {
    if (item.list === 'output' && item.isObject) found.push({ start: item.start, end: item.end });
  });
  for (let hasEnded = false; !hasEnded; ) {
    hasEnded = scan.advance();
    yield* found;
    found = [];
    if (!hasEnded) await turn(currentWorkOwner(), 'answer', scan.bytesOfSlice);
  }
}
