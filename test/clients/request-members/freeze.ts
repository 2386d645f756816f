import { writeFileSync } from 'node:fs';
import { requestMembersFile } from '../../gateway/support/request-members.ts';
import { requestMembersText } from './members-text.ts';

// `npm run request-members`: freezes the members of requests that the pinned SDKs list.
writeFileSync(requestMembersFile, requestMembersText());
