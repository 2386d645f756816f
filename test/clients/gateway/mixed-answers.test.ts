import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anthropicMessages } from '../../../src/gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '../../../src/gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '../../../src/gateway/protocols/openai-responses/openai-responses.ts';
import type { ProtocolName } from '../../gateway/protocols/arbitrary-answers.ts';
import { mixedAnswers } from '../../gateway/protocols/mixed-answers.ts';
import { assertSame, requestOf, translate } from '../../gateway/protocols/mixed-translation.ts';
import { officialClients } from './stream-readers.ts';

const valuesOf = (calls: ReadonlyArray<{ readonly arguments: string }>) =>
  calls.map(({ arguments: given }) => JSON.parse(given));

describe('a translated stream of a provider that mixes its parts', () => {
  for (const to of [openAiChat, openAiResponses, anthropicMessages])
    it(`is read by the official client of ${to.name}`, async () => {
      const request = await requestOf(to);
      for (const from of [openAiChat, anthropicMessages, openAiResponses])
        await fc.assert(
          fc.asyncProperty(mixedAnswers(from.name), async (answer) => {
            const read = await officialClients[to.name as ProtocolName](
              translate(from, to, request, answer, [answer.stream.length]),
            );
            assertSame(read, answer);
            assert.deepEqual(valuesOf(read.calls), valuesOf(answer.calls));
          }),
          { numRuns: 20 },
        );
    });
});
