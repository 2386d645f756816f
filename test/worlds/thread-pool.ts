import zlib from 'node:zlib';

type Done = (...results: unknown[]) => void;

interface Compressor {
  _transform(chunk: unknown, encoding: unknown, done: Done): void;
  _flush(done: Done): void;
}

let pending = 0;

/** The compressions that the thread pool works on. A world waits for them before its time moves. */
export function pendingCompressions(): number {
  return pending;
}

function counted(done: Done): Done {
  pending += 1;
  return (...results) => {
    pending -= 1;
    done(...results);
  };
}

/** Counts the compressions of this process from now on. */
export function countCompressions(): void {
  for (const { prototype } of [zlib.createGzip(), zlib.createGunzip()].map((stream) => ({
    prototype: Object.getPrototypeOf(stream) as Compressor,
  }))) {
    if (Object.hasOwn(prototype, '_transform')) continue;
    const { _transform, _flush } = prototype;
    prototype._transform = function (chunk, encoding, done) {
      _transform.call(this, chunk, encoding, counted(done));
    };
    prototype._flush = function (done) {
      _flush.call(this, counted(done));
    };
  }
}
