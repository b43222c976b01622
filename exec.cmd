@rem For npm scripts under Windows: its shell has no exec, with which the others hand their process, and its signals, to Node.
@%*
