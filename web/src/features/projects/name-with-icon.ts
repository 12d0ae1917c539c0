// The name of a project with its emoji.
import type { Project } from '../../../../server/protocol/projects/project.ts'

/** An icon that is the id of an image instead of an emoji. */
const FILE_ID = /^[\w-]{8,}$/

/** `📚 Books`; the name alone without an emoji. */
export const nameWithIcon = ({ icon, name }: Pick<Project, 'icon' | 'name'>): string =>
  icon === null || FILE_ID.test(icon) ? name : `${icon} ${name}`
