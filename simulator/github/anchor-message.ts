import type { AnchorProblem } from './anchor.ts'
import type { FieldError } from './answer.ts'

/** The sentence of a refused review: its errors are plain texts. */
export function sentenceOf(problem: AnchorProblem): string {
  switch (problem) {
    case 'path':
      return 'Path could not be resolved'
    case 'line':
      return 'Line could not be resolved'
    case 'no line':
      return 'Variable $threads of type [DraftPullRequestReviewThread] was provided invalid value for 0.line (Expected value to not be null)'
    case 'position':
      return "Pull request review thread position is invalid and Pull request review thread diff hunk can't be blank"
    case 'start after line':
      return 'Pull request review thread start line must precede the end line.'
    case 'start in another hunk':
      return 'Pull request review thread start line must be part of the same hunk as the line.'
  }
}

export type AnchorRefusal = AnchorProblem | 'commit' | 'pending' | 'locked'

const resource = 'PullRequestReviewComment'
const thread = 'pull_request_review_thread'
const noHunk: FieldError = { resource, code: 'missing_field', field: `${thread}.diff_hunk` }

/** The same for a comment by itself, in GitHub's other shape of errors. */
export function fieldErrorsOf(problem: AnchorRefusal): FieldError[] {
  const custom = (field: string, text: string): FieldError => ({
    resource,
    code: 'custom',
    field: `${thread}.${field}`,
    message: `${thread}.${field} ${text}`,
  })
  switch (problem) {
    case 'path':
      return [{ resource, code: 'invalid', field: `${thread}.path` }, noHunk]
    case 'line':
      return [custom('line', 'must be part of the diff'), noHunk]
    case 'no line':
      return [{ resource, code: 'missing_field', field: `${thread}.line` }]
    case 'position':
      return [{ resource, code: 'invalid', field: `${thread}.position` }, noHunk]
    case 'start after line':
      return [custom('start_line', 'must precede the end line.')]
    case 'start in another hunk':
      return [custom('start_line', 'must be part of the same hunk as the line.')]
    case 'commit':
      return [{ resource, code: 'custom', field: 'commit_id', message: 'commit_id is not part of the pull request' }]
    case 'pending':
      return [
        {
          resource: 'PullRequestReview',
          code: 'custom',
          field: 'user_id',
          message: 'user_id can only have one pending review per pull request',
        },
      ]
    case 'locked':
      return [{ resource: 'PullRequestReview', code: 'custom', field: 'base', message: 'lock prevents review' }]
  }
}
