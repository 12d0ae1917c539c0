// The plugins that draw formulas; loaded with the first formula.
import 'katex/dist/katex.min.css'
import rehypeKatex from 'rehype-katex'
import remarkMath from 'remark-math'

export const mathPlugins = { remarkMath, rehypeKatex }
