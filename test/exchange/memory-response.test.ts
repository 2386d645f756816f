import assert from 'node:assert/strict';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';

/** A hold without bytes, with room for a mebibyte. */
const someRoom = () => new ByteBudget({ maxBytesPerProject: 2 ** 20, maxBytes: 2 ** 20 }).hold('project');

describe('MemoryResponse', () => {
  it('has the headers of all writers by lower-case name, the last value of each, and no other', () => {
    const response = new MemoryResponse(100, someRoom());
    assert.deepEqual(response.headers, {});
    response.addHeaders(['X-Request-Id', 'r1', 'Content-Type', 'text/plain']);
    response.start(200, ['content-type', 'application/json', 'Retry-After', '3']);
    assert.deepEqual(response.headers, {
      'x-request-id': 'r1',
      'content-type': 'application/json',
      'retry-after': '3',
    });
  });

  it('keeps the status and the body, and accepts nothing after its end', () => {
    const response = new MemoryResponse(100, someRoom());
    assert.deepEqual([response.status, response.isComplete], [null, false]);
    response.start(201, []);
    response.write('a');
    response.write(Buffer.from('b'));
    assert.equal(response.isComplete, false);
    response.end();
    response.write('c');
    response.start(500, ['x', 'y']);
    response.destroy();
    response.disconnect();
    assert.deepEqual(
      [response.status, response.body.toString(), response.isComplete, response.isDisconnected, response.headers],
      [201, 'ab', true, false, {}],
    );
  });

  it('holds a body of exactly its limit, and disconnects its writer once at the first byte beyond', () => {
    const response = new MemoryResponse(3, someRoom());
    let disconnects = 0;
    response.onDisconnect(() => {
      disconnects += 1;
    });
    response.send(200, ['a', 'b'], 'abc');
    assert.deepEqual([response.isComplete, disconnects], [true, 0]);
    assert.deepEqual([response.status, response.headers, response.body.toString()], [200, { a: 'b' }, 'abc']);
    const small = new MemoryResponse(3, someRoom());
    small.onDisconnect(() => {
      disconnects += 1;
    });
    assert.deepEqual(
      ['abc', 'd', 'e'].map((text) => small.write(text)),
      [true, true, true],
      'it never waits for room',
    );
    small.end();
    assert.deepEqual(
      [small.body.toString(), small.isDisconnected, small.isComplete, disconnects],
      ['abc', true, false, 1],
    );
  });

  it('informs a writer that comes later that its receiver has left, and none that has turned away', () => {
    const response = new MemoryResponse(3, someRoom());
    let calls = 0;
    response.onDisconnect(() => {
      calls += 10;
    });
    response.onDisconnect(null);
    response.disconnect();
    response.onDisconnect(() => {
      calls += 1;
    });
    assert.equal(calls, 1);
  });

  it('is incomplete when its writer destroys it', () => {
    const response = new MemoryResponse(3, someRoom());
    response.destroy();
    response.end();
    assert.deepEqual([response.isComplete, response.isDisconnected], [false, false]);
  });

  it('lets a writer continue that waits for room', async () => {
    await new Promise<void>((resolve) => new MemoryResponse(3, someRoom()).onceDrained(resolve));
  });
});
