// Follows the live feed, and prints a line for each event: its position, type and sentence. It survives restarts of both
// sides: the position of the last event is kept in a file, and each connection resumes after it.
//
//   API_URL=http://127.0.0.1:8080 API_KEY=sy_live_… POSITION_FILE=position.txt node follow-feed.mjs
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { API_URL = 'http://127.0.0.1:8080', API_KEY = '', POSITION_FILE = 'position.txt' } = process.env;
const maxWaitMs = 30_000;
/** A comment comes every 15 s, so a connection without a byte for longer is dead. */
const silenceMs = 60_000;

function readPosition() {
  try {
    return readFileSync(POSITION_FILE, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Renames a whole file, so that a crash leaves the position before or after it. */
function keepPosition(position) {
  writeFileSync(`${POSITION_FILE}.new`, position);
  renameSync(`${POSITION_FILE}.new`, POSITION_FILE);
}

/** Handles an event before its position is kept: after a crash it comes again, and none is lost. */
function handle({ id, event, data }) {
  process.stdout.write(`${id} ${event} ${JSON.parse(data).summary}\n`);
  keepPosition(id);
}

/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) until the connection ends. */
async function follow() {
  const position = readPosition();
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    const headers = { authorization: `Bearer ${API_KEY}`, ...(position === '' ? {} : { 'last-event-id': position }) };
    const answer = await fetch(`${API_URL}/v1/events`, { headers, signal: silence.signal });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    let rest = '';
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
        if (fields.data !== undefined) handle(fields);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

for (let waitMs = 500; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
  const started = Date.now();
  try {
    await follow();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
  }
  if (Date.now() - started > silenceMs) waitMs = 500;
  await sleep(waitMs);
}
