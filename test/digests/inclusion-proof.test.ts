import assert from 'node:assert/strict';
import type { DigestStore } from '#digests/digest-store.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('InclusionProofs', () => {
  it('leave a proof whose files never come, and make the next one', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    let reads = 0;
    const newest = () => {
      reads += 1;
      return reads === 1 ? new Promise(() => undefined) : Promise.resolve(null);
    };
    const proofs = new InclusionProofs({ newest } as unknown as DigestStore);
    const refused = assert.rejects(proofs.prove('flow-a'), UnavailableError);
    const next = proofs.prove('flow-a');
    await time.pass(600_000);
    await refused;
    assert.equal(await next, null);
  });
});
