"""The names of this package's agents, by the module that holds their factories."""

# A factory has the name of its agent with underscores: "gp-ucb" is `gp_ucb`.
BUILT_IN = {
    "algorithms.classic": (
        "gp-ucb igp-ucb gp-ts gp-ei gp-pi pure-exploitation pure-exploration kernel-ucb dmm-ucb "
        "irgp-ucb pims eims"
    ),
    "algorithms.sup_kernel_ucb": "sup-kernel-ucb",
    "algorithms.unknown_kernel": "a-gp-ucb lb-gp-ucb pe-gp-ucb",
    "algorithms.clicks": "laplace-ucb laplace-ts",
    "algorithms.sketched": "bkb bbkb",
    "algorithms.elimination": "bpe phased-elimination reds bpe-delay mvr",
    "algorithms.moves": "batch-and-sort permuted-elimination movement-ucb",
    "algorithms.robust": "ec-gp-ucb rgp-ucb tgp-ucb stable-opt",
    "algorithms.planning": "rgp-pe rahbo",
    "algorithms.references": "epsilon-greedy local-search lin-ucb forest-thompson forest-ei",
    "algorithms.delayed": "gp-ucb-sdf gp-ts-sdf gp-bucb gp-bts asy-ts",
    "algorithms.aggregated": "gp-ucb-aggregated",
    "algorithms.constrained": "gp-ucb-noiseless-constraints gp-ucb-noisy-constraints constrained-ei",
    "algorithms.separate_models": "config rpol epbo pdcbo ckb",
    "algorithms.budgets": "ratio-ucb ei-per-cost kg-per-cost pbgi",
    "algorithms.safe": "safe-ucb safeopt stageopt losbo ise",
    "algorithms.admmbo": "admmbo",
    "algorithms.no_model": "random bandit-oco",
    "algorithms.duels": "maxminlcb rucb double-ts max-info-duel map-challenger multisbm pop-bo",
    "algorithms.duel_phases": "mr-lpf",
    "algorithms.composed": "gp-agent",
    "algorithms.changing": (
        "gp-ucb-cpd gp-ucb-oracle gp-ucb-no-detector sw-gp-ucb r-gp-ucb tv-gp-ucb ui-tvbo w-gp-ucb"
    ),
    "rl.learner": (
        "sb3-ppo sb3-a2c sb3-dqn sb3-sac sb3-td3 sb3-trpo sb3-qr-dqn sb3-recurrent-ppo sb3-maskable-ppo"
    ),
    "optimisers.factories": "optuna-tpe optuna-gp botorch-logei botorch-nei smac bayes-opt skopt",
}
