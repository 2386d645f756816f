const sampleRate = 24_000;
const secondsPerWord = 0.25;
const wordsAtMost = 400;
const loudness = 0.2 * 0x7fff;
const headerBytes = 44;

/**
 * A playable WAV file (mono, 16 bit, 24 kHz): one tone for each word, the same for the same number of words.
 * @returns a header of 44 bytes and the samples
 */
export function toneWav(words: number): Buffer {
  const tones = Math.min(wordsAtMost, Math.max(1, words));
  const samplesPerTone = sampleRate * secondsPerWord;
  const wav = Buffer.alloc(headerBytes + tones * samplesPerTone * 2);
  header(wav);
  for (let sample = 0; sample < tones * samplesPerTone; sample += 1) {
    const within = (sample % samplesPerTone) / samplesPerTone;
    const pitch = 220 * 2 ** ((Math.floor(sample / samplesPerTone) % 12) / 12);
    // Each tone swells and fades, so that none begins with a click.
    const level = loudness * Math.sin(Math.PI * within);
    const value = Math.round(level * Math.sin((2 * Math.PI * pitch * sample) / sampleRate));
    wav.writeInt16LE(value, headerBytes + sample * 2);
  }
  return wav;
}

function header(wav: Buffer): void {
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(sampleRate, 24);
  wav.writeUInt32LE(sampleRate * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(wav.length - headerBytes, 40);
}
