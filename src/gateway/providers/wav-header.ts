const wavHeaderBytes = 44;

/** The length that is written before it is known; players read to the end. */
const unknownLength = 0xffffffff;

/** The header of mono 16 bit samples. @param sampleBytes null if the length is unknown */
export function wavHeader(sampleRate: number, sampleBytes: number | null): Buffer {
  const header = Buffer.alloc(wavHeaderBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(sampleBytes === null ? unknownLength : sampleBytes + wavHeaderBytes - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(sampleBytes ?? unknownLength, 40);
  return header;
}
