/** Where the two differ, and why ours stays as it is. */
export const otherwise: readonly { step: RegExp; differs: RegExp; why: string }[] = [
  { step: /^the App$/, differs: /^(?:owner|description): /, why: 'its seed has no owner of an App and no description' },
  { step: /^with a bad token$/, differs: /^status: 401, there 200$/, why: 'GitHub answers 401 to a bad token also where nobody needs one' },
  {
    step: /^a private one, as nobody$/,
    differs: /^status: 404, there 401$/,
    why: 'GitHub does not tell that a private repository is there',
  },
  { step: /^a writer$/, differs: /^permission: "write", there "push"$/, why: "the description's words are admin, write, read, none" },
  { step: /issue|comment/, differs: /^performed_via_github_app: object, there null$/, why: 'it forgets which App wrote' },
  { step: /^the pull request again$/, differs: /^status: 422, there 201$/, why: 'GitHub has one open pull request for two branches' },
  { step: /^a pull request of nothing$/, differs: /^status: 422, there 201$/, why: 'it does not look for the head' },
  { step: /^pull requests$/, differs: /^length: 1, there 2$/, why: 'there the second one was made' },
  {
    step: /^(?:a pull request|one pull request|a title|it is closed|its files|its commits)$/,
    differs: /^(?:commits|additions|deletions|changed_files|length): /,
    why: 'it compares no trees',
  },
  {
    step: /^a pull request$/,
    differs: /^(?:mergeable|rebaseable|mergeable_state): (?:null|"unknown"), there /,
    why: 'GitHub finds out after it has answered',
  },
  {
    step: /^(?:a pull request|one pull request|a title|it is closed)$/,
    differs: /^maintainer_can_modify: false, there true$/,
    why: 'GitHub says so of forks alone',
  },
  { step: /^a reviewer$/, differs: /^status: 201, there 200$/, why: 'described as 201' },
  { step: /^a review$/, differs: /^status: 200, there 201$/, why: 'described as 200' },
  { step: /check run/, differs: /^(?:details_url|started_at|app): \w+, there null$/, why: 'it fills in nothing that was not sent' },
  {
    step: /check run/,
    differs: /^(?:status|conclusion|completed_at): .*, there (?:"in_progress"|null)$/,
    why: 'the description: a conclusion ends the run by itself',
  },
  { step: /^the branch once more$/, differs: /^status: 422, there 404$/, why: 'described: 422, Reference does not exist' },
]
