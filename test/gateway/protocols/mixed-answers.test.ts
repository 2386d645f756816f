import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { itInRounds } from '#test/support/run/long.ts';
import type { ProtocolName } from './arbitrary-answers.ts';
import { clientReaders } from './client-readers.ts';
import { mixedAnswers } from './mixed-answers.ts';
import { assertSame, requestOf, translate } from './mixed-translation.ts';

const lengthsOfPieces = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });

describe('a translated stream of a provider that mixes its parts', () => {
  for (const from of [openAiChat, anthropicMessages, openAiResponses])
    for (const to of [openAiChat, openAiResponses, anthropicMessages])
      itInRounds(
        `says the same to a client of ${to.name}, one part after the other, as the provider of ${from.name}`,
        { few: 30, many: 2_000 },
        async (numRuns) => {
          const request = await requestOf(to);
          fc.assert(
            fc.property(mixedAnswers(from.name), lengthsOfPieces, (answer, lengths) => {
              const read = clientReaders[to.name as ProtocolName](translate(from, to, request, answer, lengths));
              assertSame(read, answer);
              assert.deepEqual(
                read.calls.map((call) => call.arguments),
                answer.calls.map((call) => call.arguments),
              );
            }),
            { numRuns },
          );
        },
      );
});
