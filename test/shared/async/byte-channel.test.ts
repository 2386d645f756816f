import assert from 'node:assert/strict';
import { ByteChannel } from '#shared/async/byte-channel.ts';

async function read(channel: ByteChannel): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of channel) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('ByteChannel', () => {
  it('passes everything on in order, and reports what the reader has consumed', async () => {
    const taken: string[] = [];
    const channel = new ByteChannel(10, (bytes) => taken.push(String(bytes)));
    const reading = read(channel);
    for (const text of ['one', 'two', 'three']) {
      channel.write(Buffer.from(text));
      assert.equal(await channel.ready(), true);
    }
    channel.finish();
    assert.equal(await reading, 'onetwothree');
    assert.deepEqual(taken, ['one', 'two', 'three']);
  });

  it('makes its writer wait while it is full', async () => {
    const channel = new ByteChannel(4);
    channel.write(Buffer.from('full'));
    let isReady = false;
    const ready = channel.ready().then((more) => {
      isReady = true;
      return more;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isReady, false);
    const reading = read(channel);
    assert.equal(await ready, true);
    channel.finish();
    assert.equal(await reading, 'full');
  });

  it('gives its reader the writer’s error in place of the rest', async () => {
    const channel = new ByteChannel(10);
    channel.write(Buffer.from('lost'));
    channel.fail(new Error('cut'));
    await assert.rejects(read(channel), /cut/);
  });

  it('rejects a write after the reader has stopped, during or before the write', async () => {
    const middle = new ByteChannel(4);
    middle.write(Buffer.from('full'));
    for await (const _ of middle) break;
    middle.write(Buffer.from('more than it holds'));
    assert.equal(await middle.ready(), false);
    const never = new ByteChannel(4);
    never.write(Buffer.from('full'));
    const ready = never.ready();
    never.leave();
    assert.equal(await ready, false);
  });
});
