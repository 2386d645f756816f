import { subjectKeysContract } from '#test/contract/subject-keys.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';

subjectKeysContract('memory', async () => {
  const keys = new InMemorySubjectKeys();
  return { keys, another: () => new InMemorySubjectKeys(keys.secrets), dispose: async () => undefined };
});
