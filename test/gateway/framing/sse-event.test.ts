import assert from 'node:assert/strict';
import { sseEvent } from '#gateway/framing/sse-event.ts';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';

const dataIn = (text: string) => {
  const splitter = new SseSplitter();
  return [...splitter.push(Buffer.from(text)).events, ...splitter.finish().events].map(({ data }) => data);
};

describe('An event of a stream', () => {
  it('is one event, whatever line ends its name and its data have', () => {
    for (const name of ['response.created', 'a\n\ndata: x', 'a\rb', '\r\n'])
      for (const json of ['{"a":1}', '{\n"a":\r\n1}', '{\n\n"a":1}']) {
        const [data, ...more] = dataIn(sseEvent(name, json));
        assert.deepEqual(more, []);
        assert.deepEqual(JSON.parse(String(data)), { a: 1 });
      }
  });

  it('has its name in front of its data', () => {
    assert.equal(sseEvent('response.created', '{}'), 'event: response.created\ndata: {}\n\n');
  });
});
