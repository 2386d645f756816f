import assert from 'node:assert/strict';
import type { Consumption } from '#gateway/neutral/consumption.ts';
import { audioSecondsIn } from '#gateway/neutral/provider-report.ts';
import { costOf } from '#gateway/relay/call-record.ts';

describe('costOf', () => {
  const nothing: Consumption = { tokens: null, characters: null, audioSeconds: null };
  const byToken = { inputPerMillion: 2, outputPerMillion: 8, perMillionCharacters: undefined, perMinute: undefined };
  const free = { ...byToken, inputPerMillion: 0, outputPerMillion: 0 };

  it('adds the costs of the tokens, characters and minutes that have a price', () => {
    assert.equal(costOf({ ...nothing, tokens: { input: 500_000, output: 250_000 } }, byToken), 3);
    assert.equal(costOf({ ...nothing, characters: 2_000_000 }, { ...free, perMillionCharacters: 15 }), 30);
    assert.equal(costOf({ ...nothing, audioSeconds: 90 }, { ...free, perMinute: 0.5 }), 0.75);
    const all = { tokens: { input: 1_000_000, output: 0 }, characters: 1_000_000, audioSeconds: 60 };
    assert.equal(costOf(all, { ...byToken, perMillionCharacters: 15, perMinute: 0.5 }), 17.5);
  });

  it('bills what is written to a cache for an hour at its own price, else at that of all that is written', () => {
    const tokens = { input: 1_000_000, output: 0, cachedInput: 100_000, cacheWrite: 500_000, cacheWriteHour: 200_000 };
    const price = { ...byToken, cachedInputPerMillion: 0.2, cacheWritePerMillion: 2.5 };
    assert.equal(costOf({ ...nothing, tokens }, { ...price, cacheWriteHourPerMillion: 4 }), 2.37);
    assert.equal(costOf({ ...nothing, tokens }, price), 2.07);
    assert.equal(costOf({ ...nothing, tokens }, { ...byToken, cacheWriteHourPerMillion: 4 }), 2.4);
  });

  it('bills no more for an hour than was written, whatever the provider says', () => {
    const tokens = { input: 1_000_000, output: 0, cacheWrite: 500_000, cacheWriteHour: 9_000_000 };
    assert.equal(costOf({ ...nothing, tokens }, { ...byToken, cacheWriteHourPerMillion: 4 }), 1 + 2);
  });

  it('returns no cost when no priced quantity is known', () => {
    assert.equal(costOf(nothing, { ...byToken, perMillionCharacters: 15, perMinute: 1 }), null);
    assert.equal(costOf({ ...nothing, characters: 7, audioSeconds: 7 }, byToken), null);
  });

  it('returns zero when the used quantity is free', () => {
    assert.equal(costOf({ ...nothing, tokens: { input: 5, output: 5 } }, free), 0);
    assert.equal(costOf({ ...nothing, characters: 5 }, { ...free, perMillionCharacters: 0 }), 0);
  });
});

describe('audioSecondsIn', () => {
  it('reads the length of transcribed audio from both forms of OpenAI and from that of ElevenLabs', () => {
    assert.equal(audioSecondsIn({ text: 'x', usage: { type: 'duration', seconds: 9 }, duration: 8.47 }), 9);
    assert.equal(audioSecondsIn({ text: 'x', duration: 8.47 }), 8.47);
    assert.equal(audioSecondsIn({ text: 'x', audio_duration_secs: 3.5 }), 3.5);
  });

  it('finds no length of audio when no number states it', () => {
    assert.equal(audioSecondsIn({ text: 'x', usage: { type: 'tokens', input_tokens: 3 } }), null);
    for (const duration of ['8.47', -1, 1e300, null, {}]) assert.equal(audioSecondsIn({ duration }), null);
  });
});
