// The mathematics half of the Markdown room; loaded when the first formula appears.
import 'katex/dist/katex.min.css'
import rehypeKatex from 'rehype-katex'
import remarkMath from 'remark-math'

export const mathPlugins = { remarkMath, rehypeKatex }
