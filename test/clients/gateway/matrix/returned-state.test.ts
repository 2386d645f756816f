import { expectReturnedState } from '../../../gateway/state/returned-state.ts';
import { recordingClients } from './recording-clients.ts';

describe('what a provider of chats needs back', function () {
  this.timeout(20_000);
  expectReturnedState(recordingClients('returned-state'));
});
