import assert from 'node:assert/strict';
import type { Client } from '#exchange/client.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import { ClientStream } from '#gateway/response/client-stream.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';

const head = { status: 200, headers: [], servedBy: ['X-Switchyard-Target', 'a/x', 'X-Switchyard-Attempts', '1'] };
const sign = ': waiting\n\n';

describe('ClientStream', () => {
  const time = movedTime();
  let sent: string[];
  let isFull: boolean;
  let drain: () => void;
  let client: ClientStream;
  let calls: string[];

  beforeEach(() => {
    [sent, calls, isFull, drain] = [[], [], false, () => assert.fail('nothing waits')];
    const sink: Partial<Client> = {
      isDisconnected: false,
      start: (status) => void sent.push(String(status)),
      write: (bytes) => {
        sent.push(bytes.toString());
        return !isFull;
      },
      end: () => void sent.push('end'),
      onceDrained: (listener) => {
        drain = listener;
      },
    };
    client = new ClientStream(sink as Client, sign);
  });
  afterEach(() => client.close());

  const control = { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') } as AttemptControl;

  it('sends no sign of life to a client that has not received the piece before', async () => {
    client.begin(head);
    isFull = true;
    client.write(Buffer.from('one'), control);
    await time.pass(60_000);
    assert.deepEqual([sent, calls], [['200', 'one'], ['pause']]);
    isFull = false;
    drain();
    assert.deepEqual(calls, ['pause', 'resume']);
    await time.pass(15_001);
    assert.deepEqual(sent, ['200', 'one', sign]);
  });

  it('sends one sign of life to a client that reads nothing at all', async () => {
    client.awaitContent(head, 5_000);
    isFull = true;
    for (let minute = 0; minute < 10; minute += 1) await time.pass(60_000);
    assert.deepEqual(sent, ['200', sign]);
  });

  it('sends nothing after its end, also if the client then receives the last piece', async () => {
    client.begin(head);
    isFull = true;
    client.write(Buffer.from('one'), control);
    client.end('two');
    drain();
    await time.pass(60_000);
    assert.deepEqual(sent, ['200', 'one', 'two', 'end']);
  });

  it('sends no head while the content is prepared', async () => {
    client.awaitContent(head, 5_000);
    client.stopAwaiting();
    await time.pass(60_000);
    assert.deepEqual(sent, []);
  });

  it('names the target that serves in place of that of its head', () => {
    const other = [...head.servedBy.with(1, 'b/y'), 'X-Switchyard-Ignored', '/seed, /top_k'];
    client.begin(head);
    client.begin(head);
    client.begin({ ...head, servedBy: other });
    assert.deepEqual(sent, ['200', ': switchyard target=b/y attempts=1 ignored=/seed, /top_k\n\n']);
  });

  it('stays usable if the head cannot be sent early', async () => {
    const broken = { ...head, headers: ['X', 'y'] };
    const failing = new ClientStream(
      { isDisconnected: false, start: () => assert.fail('it cannot be sent') } as Partial<Client> as Client,
      sign,
    );
    failing.awaitContent(broken, 5_000);
    await time.pass(5_001);
    assert.equal(failing.hasHead, false);
  });
});
