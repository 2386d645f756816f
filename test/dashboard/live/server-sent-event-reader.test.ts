import assert from 'node:assert/strict';
import { ServerSentEventReader } from '#dashboard/page/api/server-sent-event-reader.ts';

const stream =
  ': hello\n\nid: 7\nevent: FlowCreated\ndata: {"position":7,\ndata: "a":1}\n\r\n: ping\r\n\r\nid:8\r\ndata:x\r\n\r\n';
const expected = [
  { id: '7', event: 'FlowCreated', data: '{"position":7,\n"a":1}' },
  { id: '8', event: 'message', data: 'x' },
];

describe('ServerSentEventReader of the dashboard', () => {
  it('reads events, joins their data lines, and skips comments', () => {
    assert.deepEqual(new ServerSentEventReader().read(stream).events, expected);
  });

  it('reads the same events wherever the stream is cut', () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const reader = new ServerSentEventReader();
      const events = [...reader.read(stream.slice(0, cut)).events, ...reader.read(stream.slice(cut)).events];
      assert.deepEqual(events, expected, `cut at ${cut}`);
    }
  });

  it('reports each comment', () => {
    const { events, heard } = new ServerSentEventReader().read(': ping\n\n');
    assert.deepEqual([events.length, heard], [0, true]);
  });
});
