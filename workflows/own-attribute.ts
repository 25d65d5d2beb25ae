import { workflowInfo } from '@temporalio/workflow';
import type { searchAttributes } from './search-attributes.ts';

type Key = (typeof searchAttributes)[keyof typeof searchAttributes];

/** A search attribute of the running workflow, as last set; it survives continue-as-new. */
export function ownAttribute(key: Key): string | undefined {
  return workflowInfo().typedSearchAttributes.get(key);
}
