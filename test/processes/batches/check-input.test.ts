import assert from 'node:assert/strict';
import { readLine } from '#gateway/batch/read-line.ts';
import { checkInput } from '#processes/batches/check-input.ts';
import { type NumberedLine, TooManyLinesError } from '#processes/batches/read-lines.ts';

const endpoint = '/v1/chat/completions';
const megabyte = 1024 * 1024;

const lineOf = (customId: string) =>
  Buffer.from(JSON.stringify({ custom_id: customId, method: 'POST', url: endpoint, body: { model: 'large' } }));

const ignore = () => undefined;

async function* numbered(lines: Iterable<Buffer | null>, onRelease = ignore): AsyncGenerator<NumberedLine> {
  let number = 0;
  for (const bytes of lines) {
    number += 1;
    yield { number, bytes, becomeAnswer: ignore, release: onRelease };
  }
}

function* many(count: number) {
  for (let index = 0; index < count; index += 1) yield lineOf(`line-${index}`);
}

describe('checkInput', () => {
  const calls = { read: (line: Buffer) => readLine(line, endpoint, 1_000) };
  const check = (lines: Iterable<Buffer | null>, bytes = 1_000) =>
    checkInput(numbered(lines), { endpoint, bytes }, calls, () => true);
  const faultsOf = async (lines: Iterable<Buffer | null>, bytes?: number) => {
    const checked = await check(lines, bytes);
    assert.ok(checked !== null && 'errors' in checked, 'the input has faults');
    return checked.errors.map(({ code, line }) => [code, line]);
  };

  it('accepts 50,000 lines, and refuses one more', async () => {
    assert.deepEqual(await check(many(50_000)), { total: 50_000 });
    assert.deepEqual(await faultsOf(many(50_001)), [['too_many_lines', null]]);
  });

  it('accepts 200 MiB, and refuses one byte more before it reads a line', async () => {
    assert.deepEqual(await check(many(1), 200 * megabyte), { total: 1 });
    const unread = { [Symbol.iterator]: () => assert.fail('a line was read') };
    assert.deepEqual(await faultsOf(unread, 200 * megabyte + 1), [['file_too_large', null]]);
  });

  it('names the line that is too long, cut off, no JSON or has the id of an earlier one', async () => {
    const cutOff = lineOf('d').subarray(0, 40);
    const lines = [lineOf('a'), null, lineOf('a'), Buffer.from('no JSON'), cutOff];
    const faults = await faultsOf(lines);
    assert.deepEqual(
      faults.map(([, line]) => line),
      [2, 3, 4, 5],
    );
    assert.deepEqual(faults.slice(0, 2), [
      ['line_too_long', 2],
      ['duplicate_custom_id', 3],
    ]);
  });

  it('refuses an input without lines, and reports a hundred faults at most', async () => {
    assert.deepEqual(await faultsOf([]), [['empty_file', null]]);
    assert.equal((await faultsOf(Array.from({ length: 300 }, () => Buffer.from('{}')))).length, 100);
  });

  it('refuses an input with too many lines of which most are blank', async () => {
    const lines = async function* () {
      yield* numbered([Buffer.from('{}')]);
      throw new TooManyLinesError();
    };
    const checked = await checkInput(lines(), { endpoint, bytes: 10 }, calls, () => true);
    assert.ok(checked !== null && 'errors' in checked);
    assert.deepEqual(
      checked.errors.map(({ code }) => code),
      ['invalid_custom_id', 'too_many_lines'],
    );
  });

  it('releases every line, and takes lines that end early for no result', async () => {
    let released = 0;
    let isWanted = true;
    const lines = numbered(many(3), () => {
      released += 1;
      isWanted = released < 3;
      return undefined;
    });
    assert.equal(await checkInput(lines, { endpoint, bytes: 10 }, calls, () => isWanted), null);
    assert.equal(released, 3);
  });
});
